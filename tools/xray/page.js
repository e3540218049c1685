// The page is complete without this: a click folds what a line explains, and a button
// copies the command for Nsight Compute.
document.querySelectorAll(".line").forEach((line) => {
    const notes = [];
    for (let next = line.nextElementSibling; next && next.matches(".why");
        next = next.nextElementSibling) notes.push(next);
    if (notes.length === 0) return;
    const costs = line.querySelector(".costs");
    costs.style.cursor = "pointer";
    costs.addEventListener("click", () => notes.forEach((n) => { n.hidden = !n.hidden; }));
});
document.querySelectorAll(".ncu pre").forEach((command) => {
    if (!navigator.clipboard) return;
    const button = document.createElement("button");
    button.textContent = "copy";
    button.addEventListener("click", () => {
        navigator.clipboard.writeText(command.textContent);
        button.textContent = "copied";
    });
    command.before(button);
});
