// A recorded trace on the screen, without any library: the page of ./learn xray --trace
// holds this file as it is, and <KernelTrace /> calls it.
//
// Code on the left, the lanes of each warp on the right, shared memory below. A step
// redraws two canvases and the lines of code that change; nothing else depends on how
// many steps there are.

import {
  FLIGHT, LANDED, decode, isElsewhere, leftOut, nextMark, player, say, sayAll, sayWord,
  touch, warpAt,
} from './model.js';

const LANE = 11; // a lane's square, with its gap
const ROW = 17;
const NAME = 62; // of the warp, left of its lanes
const WHERE = 126; // right of them
const MARK = /^\s*\/\/ (TODO\(learner\)|#(solution|starter|end|region|endregion)\b)/;
const HELP =
  'Arrow keys: one step; Page Up, Page Down: 50; Home, End; n and p: the next and the ' +
  'last race or bank conflict; w: where every warp is.';

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A canvas as sharp as the screen. */
function resize(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return pen;
}

/**
 * Shows a trace in an element. Returns { go, at, count, draw, destroy }.
 * @param trace  as recorded, with `sources`: [{ file, first, lines }]
 * @param onSay  is told each step in words; without it they are a line of the page
 */
function mount(root, trace, { onSay = null } = {}) {
  const decoded = decode(trace);
  const { count, numWarps, steps, variables, marks, flights } = decoded;
  const { state, go: move } = player(decoded);
  let colours = {};
  let asked = 0; // for the next frame

  // ---- The parts of the page -------------------------------------------------------
  const slider = element('input', {
    type: 'range', min: 0, max: count, value: 0, step: 1, 'aria-label': 'Step of the trace',
  });
  const button = (text, label, action) => {
    const names = { type: 'button', title: label, 'aria-label': label };
    const node = element('button', names, text);
    node.addEventListener('click', action);
    return node;
  };
  const mark = (direction) => () => {
    const found = nextMark(decoded, state.at, direction);
    if (found) return go(found.step);
    tell(`No ${direction > 0 ? 'further' : 'earlier'} race or bank conflict.`);
  };
  const buttons = element('div', { class: 'kt-buttons' },
    button('|◀', 'To the start', () => go(0)),
    button('◀', 'One step back', () => go(state.at - 1)),
    button('▶', 'One step forward', () => go(state.at + 1)),
    button('▶|', 'To the end', () => go(count)),
    button('◀ !', 'The last race or bank conflict', mark(-1)),
    button('! ▶', 'The next race or bank conflict', mark(1)));
  const status = element('p', { class: 'kt-status', role: 'status', 'aria-live': 'polite' });
  const tell = onSay ?? ((text) => (status.textContent = text));
  const finding = element('pre', { class: 'kt-finding', hidden: '' });
  const strip = element('canvas', { class: 'kt-strip', 'aria-hidden': 'true' });
  const head = element('div', { class: 'kt-head' });
  const picture = (name, label) =>
    element('canvas', { class: name, role: 'img', 'aria-label': label });
  const lanes = picture('kt-lanes', 'The lanes of each warp');
  const memory = picture('kt-memory', 'Shared memory, a column for each bank');
  const frame = element('canvas', { class: 'kt-frame', 'aria-hidden': 'true' }); // above it
  const word = element('p', { class: 'kt-word' });
  // Wider than a phone: the keyboard must reach it.
  const scrolling = (name, label, ...parts) =>
    element('div', { class: name, role: 'group', tabindex: 0, 'aria-label': label }, ...parts);
  const code = element('div', {
    class: 'kt-code', tabindex: 0, role: 'group',
    'aria-label': 'The code; at each line the warps that are there',
  });
  const legend = element('p', { class: 'kt-legend' });
  const memoryBox = scrolling('kt-memory-box', 'Shared memory',
    element('p', { class: 'kt-title' }, 'Shared memory'), legend,
    element('div', { class: 'kt-stack' }, memory, frame), word);
  root.classList.add('kt');
  root.replaceChildren(
    element('div', { class: 'kt-controls' }, buttons, slider),
    element('div', { class: 'kt-time' }, strip, head),
    element('p', { class: 'kt-legend' }, [
      'All steps: a row for each warp, a line for each barrier',
      steps.some(({ shape }) => shape.doing === 'product')
        ? 'dark: the tensor cores multiply' : '',
      flights.length > 0 ? 'below: tiles on their way' : '',
      marks.length > 0 ? 'last row: races (red) and bank conflicts (grey)' : '',
    ].filter(Boolean).join('; ') + '.'),
    ...(onSay ? [] : [status]),
    finding,
    element('div', { class: 'kt-columns' }, code,
      scrolling('kt-lanes-box', 'Warps and their lanes',
        element('p', { class: 'kt-title' }, 'Warps and their lanes'), lanes)),
    memoryBox,
    element('p', { class: 'kt-note' }, [leftOut(decoded), HELP].filter(Boolean).join(' ')));
  if (variables.length === 0) memoryBox.hidden = true;

  // ---- Code ------------------------------------------------------------------------
  const lines = new Map(); // "file:line" to its parts
  for (const { file, first, lines: texts } of trace.sources ?? []) {
    code.append(element('div', { class: 'kt-file' }, file));
    let isHidden = false;
    texts.forEach((text, i) => {
      // The marks from which a solution's starter is made, and what stands in it there.
      const isMark = file.startsWith('solutions/') && MARK.test(text);
      if (isMark) isHidden = /TODO|#starter/.test(text);
      if (isMark || isHidden) return;
      const who = element('span', { class: 'kt-who' });
      const row = element('div', { class: 'kt-line' }, who,
        element('span', { class: 'kt-no' }, `${first + i}`),
        element('span', { class: 'kt-text' }, text || ' '));
      lines.set(`${file}:${first + i}`, { row, who, shown: '' });
      code.append(row);
    });
  }
  function drawCode() {
    const here = new Map();
    for (let w = 0; w < numWarps; ++w) {
      const { file, line, status: is } = warpAt(decoded, state, w);
      if (is === 'start' || is === 'end') continue;
      const key = `${file}:${line}`;
      if (!here.has(key)) here.set(key, []);
      here.get(key).push({ w, waits: is === 'wait' });
    }
    const step = state.at > 0 ? steps[state.at - 1] : null;
    const [file, number] = step ? trace.places[step.shape.place] : ['', 0];
    for (const [key, line] of lines) {
      const warps = here.get(key) ?? [];
      const now = key === `${file}:${number}`;
      const shown = `${now}${warps.map(({ w, waits }) => (waits ? `(${w})` : w))}`;
      if (shown === line.shown) continue;
      line.shown = shown;
      line.row.classList.toggle('kt-now', now);
      const few = warps.length > 5 ? warps.slice(0, 4) : warps;
      line.who.replaceChildren(...few.map(({ w, waits }) => {
        const title = `warp ${w}${waits ? ' waits' : ''}`;
        const look = { style: `--hue: ${hue(w)}`, class: waits ? 'kt-waits' : '' };
        return element('b', { ...look, title }, `${w}`);
      }), ...(few.length < warps.length ? [`+${warps.length - few.length}`] : []));
    }
    const row = lines.get(`${file}:${number}`)?.row;
    if (!row) return;
    const top = row.offsetTop;
    if (top < code.scrollTop + 20 || top > code.scrollTop + code.clientHeight - 40) {
      code.scrollTop = top - code.clientHeight / 2;
    }
  }

  // ---- Colours ---------------------------------------------------------------------
  function hue(warp) {
    return Math.round((360 * warp) / Math.min(Math.max(numWarps, 3), 32) + 205) % 360;
  }
  function readColours() {
    const style = getComputedStyle(root);
    const of = (name) => style.getPropertyValue(name).trim();
    colours = {
      ink: of('--kt-ink'), muted: of('--kt-muted'), line: of('--kt-line'), bg: of('--kt-bg'),
      bad: of('--kt-bad'), good: of('--kt-good'), flight: of('--kt-flight'),
      light: of('--kt-light'), font: style.fontFamily,
    };
    const colourOf = (_, w) => `hsl(${hue(w)} 62% ${colours.light})`;
    colours.warps = Array.from({ length: numWarps }, colourOf);
  }

  // ---- All steps at once: a row for each warp --------------------------------------
  function drawStrip() {
    const width = Math.max(200, root.clientWidth);
    const row = Math.max(2, Math.min(9, Math.floor(120 / numWarps)));
    const flightRows = Math.max(0, ...flights.map(({ row }) => row + 1));
    const below = numWarps * row + 2;
    const height = below + flightRows * 6 + (marks.length > 0 ? 10 : 0);
    const pen = resize(strip, width, height);
    const x = (step) => (step / Math.max(count, 1)) * width;
    const size = Math.max(1, width / Math.max(count, 1));
    steps.forEach(({ warp, shape }, i) => {
      if (shape.doing === 'barrier') {
        pen.fillStyle = colours.ink;
        pen.fillRect(x(i), 0, Math.max(1, Math.min(size, 2)), numWarps * row);
      } else if (warp >= 0) {
        pen.fillStyle =
          shape.doing === 'at' ? colours.line :
          shape.doing === 'product' ? colours.ink : colours.warps[warp];
        pen.fillRect(x(i), warp * row, size, row - 1);
      }
    });
    pen.fillStyle = colours.flight;
    for (const flight of flights) {
      const wide = Math.max(2, x(flight.end) - x(flight.begin));
      pen.fillRect(x(flight.begin), below + flight.row * 6, wide, 5);
    }
    for (const { step, kind } of marks) {
      pen.fillStyle = kind === 'finding' ? colours.bad : colours.muted;
      pen.fillRect(x(step - 1), below + flightRows * 6, Math.max(2, size), 8);
    }
    head.style.height = `${height}px`;
  }

  // ---- Lanes -----------------------------------------------------------------------
  let rows = []; // what each row shows
  function drawLanes(pen) {
    const now = state.at > 0 ? steps[state.at - 1] : null;
    for (let w = 0; w < numWarps; ++w) {
      const at = warpAt(decoded, state, w);
      const isNow =
        now !== null && (now.warp === w || (now.warp === -1 && at.step === state.at - 1));
      const shown = `${at.status} ${at.line} ${at.lanes} ${isNow && (now.finding ? 2 : 1)}`;
      if (rows[w] === shown) continue;
      rows[w] = shown;
      drawRow(pen, w, at, isNow ? (now.finding ? colours.bad : colours.ink) : null);
    }
  }
  function drawRow(pen, w, at, border) {
    const y = w * ROW;
    pen.clearRect(0, y, NAME + 32 * LANE + WHERE, ROW);
    pen.textBaseline = 'middle';
    pen.font = `${border ? 'bold ' : ''}12px ${colours.font}`;
    pen.fillStyle = colours.ink;
    pen.fillText(`warp ${w}`, 2, y + ROW / 2);
    pen.globalAlpha = at.status === 'wait' ? 0.4 : 1;
    for (let lane = 0; lane < 32; ++lane) {
      const isOn = at.status !== 'end' && ((at.lanes >>> lane) & 1) === 1;
      pen.fillStyle = isOn ? colours.warps[w] : colours.line;
      pen.fillRect(NAME + lane * LANE, y + 2, LANE - 2, ROW - 5);
    }
    pen.globalAlpha = 1;
    if (border) {
      pen.strokeStyle = border;
      pen.lineWidth = 1.5;
      pen.strokeRect(NAME - 2, y + 1, 32 * LANE + 2, ROW - 3);
    }
    pen.font = `12px ${colours.font}`;
    pen.fillStyle = at.status === 'run' ? colours.ink : colours.muted;
    const place = `line ${at.line}`;
    const text = { start: '', end: 'done', wait: `waits, ${place}`, run: place }[at.status];
    pen.fillText(text, NAME + 32 * LANE + 6, y + ROW / 2);
  }

  // ---- Shared memory: a column for each bank ---------------------------------------
  let plan = [];
  let cell = 8;
  function planMemory() {
    const width = Math.max(300, root.clientWidth - 4);
    const rows = variables.map((v) => Math.ceil(((v.begin / 4) % 32 + v.words) / 32));
    const total = rows.reduce((sum, count) => sum + count, 0);
    let panels = 1;
    for (cell = 11; cell > 2; --cell) {
      panels = Math.max(1, Math.floor(width / (32 * cell + 12)));
      if ((Math.ceil(total / panels) + 2 * variables.length) * cell <= 380) break;
    }
    plan = [];
    let y = 0;
    variables.forEach((v, k) => {
      const own = Math.min(panels, rows[k]);
      const tall = Math.ceil(rows[k] / own);
      plan.push({ ...v, top: y + 16, tall, lead: (v.begin / 4) % 32 });
      y += 16 + tall * cell + 8;
    });
    drawn = null;
    const height = Math.max(y, 20);
    return { memory: resize(memory, width, height), frame: resize(frame, width, height) };
  }
  function cellAt(v, word) {
    const place = v.lead + (word - v.start);
    const row = Math.floor(place / 32);
    const panel = Math.floor(row / v.tall);
    return [panel * (32 * cell + 12) + (place % 32) * cell, v.top + (row % v.tall) * cell];
  }
  /** Draws the words that have changed: there may be tens of thousands. */
  let drawn = null; // the owner of each word on the canvas
  let framed = [];
  function drawMemory({ memory: pen, frame: outline }) {
    const gap = cell > 4 ? 1 : 0;
    if (!drawn) {
      drawn = new Int32Array(decoded.words).fill(-9);
      pen.clearRect(0, 0, memory.width, memory.height);
      outline.clearRect(0, 0, memory.width, memory.height);
      pen.font = `12px ${colours.font}`;
      pen.fillStyle = colours.ink;
      for (const v of plan) pen.fillText(`${v.name}, ${v.bytes} bytes`, 0, v.top - 4);
    }
    for (const v of plan) {
      for (let word = v.start; word < v.start + v.words; ++word) {
        const owner = state.owner[word];
        if (owner === drawn[word]) continue;
        drawn[word] = owner;
        const [x, y] = cellAt(v, word);
        pen.fillStyle =
          owner === 0 ? colours.line :
          owner === FLIGHT ? colours.flight :
          owner === LANDED ? colours.good : colours.warps[(owner - 1) >> 5];
        pen.fillRect(x, y, cell - gap, cell - gap);
      }
    }
    for (const [x, y] of framed) outline.clearRect(x - 2, y - 2, cell + 4, cell + 4);
    framed = [];
    const now = state.at > 0 ? steps[state.at - 1] : null;
    if (!now || now.shape.space !== 'shared' || now.shape.mask === 0) return;
    if (isElsewhere(now.shape)) return;
    outline.strokeStyle = now.finding ? colours.bad : colours.ink;
    outline.lineWidth = cell > 4 ? 1.5 : 1;
    touch(decoded, now.shape, now.base, now.shape.bytes, (at) => {
      const v = plan.find(({ start, words }) => at >= start && at < start + words);
      framed.push(cellAt(v, at));
    });
    for (const [x, y] of framed) outline.strokeRect(x + 0.25, y + 0.25, cell - 1, cell - 1);
  }
  function wordAt(event) {
    const box = memory.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    for (const v of plan) {
      const panel = Math.floor(px / (32 * cell + 12));
      const column = Math.floor((px - panel * (32 * cell + 12)) / cell);
      const row = Math.floor((py - v.top) / cell);
      if (row < 0 || row >= v.tall || column > 31) continue;
      const at = v.start + (panel * v.tall + row) * 32 + column - v.lead;
      if (at >= v.start && at < v.start + v.words) return at;
    }
    return -1;
  }
  memory.addEventListener('pointermove', (event) => {
    const at = wordAt(event);
    word.textContent = at < 0 ? '' : sayWord(decoded, state, at);
  });

  // ---- Going from step to step -----------------------------------------------------
  let pens = {};
  function layout() {
    readColours();
    drawStrip();
    pens = {
      lanes: resize(lanes, NAME + 32 * LANE + WHERE, numWarps * ROW + 2),
      memory: variables.length > 0 ? planMemory() : null,
    };
    rows = [];
    legend.replaceChildren(
      'A column for each bank. Colour: the warp that wrote a word. ',
      element('i', { class: 'kt-none' }), ' nobody ',
      element('i', { class: 'kt-flight' }), ' copy on its way ',
      element('i', { class: 'kt-landed' }), ' copied by TMA. Framed: what this step touches.');
    draw();
  }
  function draw() {
    asked = 0;
    drawCode();
    drawLanes(pens.lanes);
    if (pens.memory) drawMemory(pens.memory);
    const share = state.at / Math.max(count, 1);
    head.style.transform = `translateX(${share * strip.clientWidth}px)`;
    slider.value = state.at;
    const text = say(decoded, state.at);
    slider.setAttribute('aria-valuetext', text);
    tell(text);
    const found = state.at > 0 ? steps[state.at - 1].finding : null;
    status.classList.toggle('kt-bad', found !== null);
    finding.hidden = found === null;
    finding.textContent = found ? found.text.replace('==SIMT== ', '') : '';
  }
  function go(to) {
    move(to);
    asked ||= requestAnimationFrame(draw);
  }
  slider.addEventListener('input', () => go(Number(slider.value)));
  strip.addEventListener('pointerdown', (event) => {
    const box = strip.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * count));
  });
  const KEYS = {
    ArrowRight: () => go(state.at + 1), ArrowLeft: () => go(state.at - 1),
    PageDown: () => go(state.at + 50), PageUp: () => go(state.at - 50),
    Home: () => go(0), End: () => go(count), n: mark(1), p: mark(-1),
    w: () => tell(sayAll(decoded, state)),
  };
  root.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  const watcher = new ResizeObserver(() => layout());
  watcher.observe(root);
  const scheme = window.matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', layout);
  const theme = new MutationObserver(layout);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['class'] });
  layout();
  return {
    go, count, at: () => state.at, draw,
    destroy() {
      watcher.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', layout);
    },
  };
}

export { mount };
