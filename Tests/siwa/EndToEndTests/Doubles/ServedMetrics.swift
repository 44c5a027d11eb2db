import Foundation

/// Metrics as services serve them: their families, and the labels of their series with all values.
struct ServedMetrics: Sendable {
    /// Labels that Prometheus adds to each series.
    static let added: Set<String> = ["job", "instance"]

    /// Names of the `# TYPE` lines.
    private(set) var families: Set<String> = []
    /// By the name of a series, such as `siwa_oauth_commit_seconds_bucket`, and by label.
    private var series: [String: [String: Set<String>]] = [:]

    /// - Parameter pages: Texts of `/metrics`, each of a service with other functions.
    init(_ pages: [String]) {
        for line in pages.joined(separator: "\n").split(separator: "\n") {
            if let type = line.wholeMatch(of: /# TYPE ([a-z0-9_]+) .*/) {
                families.insert(String(type.1))
            } else if let line = line.wholeMatch(of: /([a-z0-9_]+)(?:\{(.*)\})? [^ ]+/) {
                var labels = series[String(line.1)] ?? [:]
                for label in (line.2 ?? "").matches(of: /([a-z_]+)="((?:[^"\\]|\\.)*)"/) {
                    labels[String(label.1), default: []].insert(String(label.2))
                }
                series[String(line.1)] = labels
            }
        }
    }

    func isServed(_ name: String) -> Bool { series[name] != nil }

    func values(of label: String, in name: String) -> Set<String> { series[name]?[label] ?? [] }

    /// The labels of a family, without the bounds of a histogram.
    func labels(of family: String) -> Set<String> {
        Set((series[family] ?? series["\(family)_bucket"] ?? [:]).keys).subtracting(["le"])
    }

    /// All words of a family: its labels and their values.
    func words(of family: String) -> Set<String> {
        let labels = series[family] ?? series["\(family)_bucket"] ?? [:]
        return Set(labels.keys).union(labels.values.joined())
    }

    func labels(ofSeries name: String) -> Set<String> { Set((series[name] ?? [:]).keys) }

    /// Says what an expression of PromQL asks for that no service serves: families, labels in `by` and `on`, and
    /// values in matchers of all four kinds.
    func mistakes(in expression: String) -> [String] {
        var mistakes: [String] = []
        for name in Self.names(in: expression) where !isServed(name) {
            mistakes.append("no service has \(name)")
        }
        for selector in expression.matches(of: /((?:siwa|process)_[a-z0-9_]+)\{([^}]*)\}/) {
            for matcher in selector.2.matches(of: /([a-z_]+)(=~|!~|!=|=)"([^"]*)"/) {
                let label = String(matcher.1)
                guard !Self.added.contains(label) else { continue }
                let values = values(of: label, in: String(selector.1))
                let isPattern = matcher.2.hasSuffix("~")
                for word in isPattern ? matcher.3.split(separator: "|") : [matcher.3]
                where !Self.isFound(word, among: values, isPattern: isPattern) {
                    mistakes.append("\(selector.1) has no \(label)=\"\(word)\"")
                }
            }
        }
        for (labels, names) in Self.groups(in: expression) {
            for name in names {
                let unknown = labels.subtracting(Self.added).subtracting(self.labels(ofSeries: name))
                mistakes += unknown.map { "\(name) has no label \($0)" }
            }
            if names.isEmpty { mistakes.append("by (\(labels.sorted())) is about no series") }
        }
        let grouped = Self.groupedLabels(in: expression)
        for join in expression.matches(of: /\b(?:on|ignoring|without|group_left) ?\(([^)]*)\)/) {
            mistakes += Self.list(join.1).subtracting(grouped).map { "on \($0), which nothing is grouped by" }
        }
        return mistakes
    }

    /// The labels that results of an expression have: those of its groups, or of its series without groups.
    func resultLabels(of expression: String) -> Set<String> {
        let grouped = Self.groupedLabels(in: expression)
        guard Self.groups(in: expression).isEmpty else { return grouped }
        return Self.names(in: expression).reduce(into: Self.added) { $0.formUnion(labels(ofSeries: $1)) }
    }

    static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:siwa|process)_[a-z0-9_]+/).map { String($0.0) })
    }

    private static func isFound(_ word: Substring, among values: Set<String>, isPattern: Bool) -> Bool {
        guard isPattern, let pattern = try? Regex(String(word)) else { return values.contains(String(word)) }
        return values.contains { $0.wholeMatch(of: pattern) != nil }
    }

    private static func groupedLabels(in expression: String) -> Set<String> {
        groups(in: expression).reduce(into: added) { $0.formUnion($1.labels) }
    }

    private static func list(_ text: Substring) -> Set<String> {
        Set(text.split { ", ".contains($0) }.map(String.init))
    }

    /// Each `by (labels) (body)` with the series of its body.
    private static func groups(in expression: String) -> [(labels: Set<String>, names: Set<String>)] {
        expression.matches(of: /\bby ?\(([^)]*)\) ?\(/).map { match in
            var depth = 1
            let body = expression[match.range.upperBound...].prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            return (list(match.1), names(in: String(body)))
        }
    }
}
