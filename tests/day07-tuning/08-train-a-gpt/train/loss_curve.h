// A curve of losses: in a terminal, and as a picture.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

/// (step, loss), in the order of steps.
using Losses = std::vector<std::pair<int64_t, float>>;

/// The means of `count` equal shares of the losses, or the losses, where there are
/// fewer.
inline Losses thinned(const Losses& losses, std::size_t count) {
    if (losses.size() <= count) return losses;
    Losses result;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t first = i * losses.size() / count;
        const std::size_t end = (i + 1) * losses.size() / count;
        double sum = 0.0;
        for (std::size_t at = first; at < end; ++at)
            sum += double{losses[at].second};
        result.emplace_back(losses[end - 1].first,
                            static_cast<float>(sum / static_cast<double>(end - first)));
    }
    return result;
}

/// Where a loss lies between the least, 0, and the most, 1.
struct LossRange {
    float least = 0.0f;
    float most = 0.0f;

    explicit LossRange(const Losses& losses) {
        for (std::size_t i = 0; i < losses.size(); ++i) {
            const float loss = losses[i].second;
            least = i == 0 ? loss : std::min(least, loss);
            most = i == 0 ? loss : std::max(most, loss);
        }
    }
    double share(float loss) const {
        return most > least ? double{loss - least} / double{most - least} : 0.5;
    }
};

/// Rows of a terminal, the largest loss above:
///
///     5.55 |*
///          | **
///     2.31 |   ****
///           1 .. 200
inline std::string terminal_curve(const Losses& all,
                                  std::size_t columns = 64,
                                  int rows = 8) {
    const Losses losses = thinned(all, columns);
    if (losses.empty()) return "";
    const LossRange range(losses);
    std::vector<std::string> lines(static_cast<std::size_t>(rows),
                                   std::string(losses.size(), ' '));
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const double down = (1.0 - range.share(losses[i].second)) * (rows - 1);
        lines[static_cast<std::size_t>(std::lround(down))][i] = '*';
    }
    std::string text;
    for (int row = 0; row < rows; ++row) {
        char label[16] = "";
        if (row == 0 || row == rows - 1)
            std::snprintf(label,
                          sizeof label,
                          "%.2f",
                          double{row == 0 ? range.most : range.least});
        char start[32];
        std::snprintf(start, sizeof start, "%6s |", label);
        text += start + lines[static_cast<std::size_t>(row)] + "\n";
    }
    return text + "        " + std::to_string(losses.front().first) + " .. " +
           std::to_string(losses.back().first) + "\n";
}

/// A picture of 640 x 320, for any browser.
inline std::string svg_curve(const Losses& all) {
    const Losses losses = thinned(all, 500);
    const LossRange range(losses);
    std::string points;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const double x =
            losses.size() == 1
                ? 0.0
                : static_cast<double>(i) / static_cast<double>(losses.size() - 1);
        char point[48];
        std::snprintf(point,
                      sizeof point,
                      "%.1f,%.1f ",
                      60.0 + 560.0 * x,
                      20.0 + 250.0 * (1.0 - range.share(losses[i].second)));
        points += point;
    }
    const auto text = [](int x, int y, const char* anchor, const std::string& words) {
        return "<text x='" + std::to_string(x) + "' y='" + std::to_string(y) +
               "' text-anchor='" + anchor + "'>" + words + "</text>\n";
    };
    char most[16];
    char least[16];
    std::snprintf(most, sizeof most, "%.3f", double{range.most});
    std::snprintf(least, sizeof least, "%.3f", double{range.least});
    const int64_t first = losses.empty() ? 0 : losses.front().first;
    const int64_t last = losses.empty() ? 0 : losses.back().first;
    return "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 320' "
           "font-family='sans-serif' font-size='14'>\n"
           "<rect width='640' height='320' fill='white'/>\n"
           "<path d='M60 20V270H620' fill='none' stroke='gray'/>\n"
           "<polyline fill='none' stroke='green' stroke-width='2' points='" +
           points + "'/>\n" + text(54, 25, "end", most) + text(54, 274, "end", least) +
           text(60, 290, "middle", std::to_string(first)) +
           text(620, 290, "end", std::to_string(last)) +
           text(340, 310, "middle", "step; above: the loss") + "</svg>\n";
}
