#include "one.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/// Grades one value as the real grader does.
static int grade(int x) {
    const int got = one(x);
    if (got == x + 1) return 0;
    printf("  wb| one: x = %d\n  wb|   expected %d, got %d\n", x, x + 1, got);
    return 1;
}

/// As common/testing/src/time_limit.h.
static void too_long(int) {
    const char text[] = "wb| did not end within 1 seconds\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(2);
    close(open(getenv("WB_STOP_FILE"), O_WRONLY | O_CREAT, 0644));
    _exit(1);
}

int main(int argc, char** argv) {
    if (const char* seconds = getenv("WB_TIME_LIMIT")) {
        if (access(getenv("WB_STOP_FILE"), F_OK) == 0) {
            puts("wb| not run: a case before this one took too long");
            return 4;
        }
        signal(SIGALRM, too_long);
        alarm(atoi(seconds));
    }
    const char* test = argc > 1 ? argv[1] : "";
    if (strcmp(test, "adds to small numbers") == 0) return grade(1);
    if (strcmp(test, "adds to large numbers") == 0) return grade(1000000);
    return grade(-1);
}
