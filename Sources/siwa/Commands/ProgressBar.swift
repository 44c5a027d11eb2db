import Composition
import Foundation
import Synchronization

/// Shows the progress of long work on standard error.
final class ProgressBar: Sendable {
    private struct State {
        var display: ProgressDisplay
        var done = 0
    }

    private let state: Mutex<State>
    private let start = ContinuousClock.now
    private let write: @Sendable (String) -> Void

    init(
        title: String, total: Int, isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        write: @escaping @Sendable (String) -> Void = ProgressBar.toStandardError
    ) {
        var display = ProgressDisplay(title: title, total: total, isTerminal: isTerminal)
        display.columns = TerminalStyle.columns(of: STDERR_FILENO)
        state = Mutex(State(display: display))
        self.write = write
    }

    func advance(by count: Int = 1) {
        let elapsed = start.duration(to: .now)
        let text = state.withLock { state in
            state.done += count
            // The user may resize the window during the work.
            state.display.columns = TerminalStyle.columns(of: STDERR_FILENO)
            return state.display.update(done: state.done, after: elapsed)
        }
        if let text { write(text) }
    }

    func end() {
        let elapsed = start.duration(to: .now)
        let text = state.withLock { $0.display.end(done: $0.done, after: elapsed) }
        if let text { write(text) }
    }

    static let toStandardError: @Sendable (String) -> Void = { text in
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension ProgressBar {
    /// Shows a bar during work that reports its own total.
    static func shown<Result>(
        _ title: String, _ work: (_ begin: (Int) -> Void, _ progress: () -> Void) async throws -> Result
    ) async throws -> Result {
        var bar: ProgressBar?
        let result = try await work({ bar = ProgressBar(title: title, total: $0) }, { bar?.advance() })
        bar?.end()
        return result
    }
}

/// The progress of long work as text: a bar that is redrawn on a terminal, or occasional lines in a pipe or a
/// log.
///
/// Writes nothing and reads no clock.
struct ProgressDisplay {
    let title: String
    let total: Int
    let isTerminal: Bool
    /// Terminal width in columns.
    var columns = 80
    private var shownAt: Duration?
    private var shownTenth = 0
    /// The count in the last line.
    private var shownDone: Int?

    /// Minimum time between two redraws, and maximum time without a line while there is progress.
    static let redraw: Duration = .milliseconds(100)
    static let line: Duration = .seconds(30)

    init(title: String, total: Int, isTerminal: Bool) {
        (self.title, self.total, self.isTerminal) = (title, total, isTerminal)
    }

    /// Returns the text to write now; `nil` if it is too early.
    mutating func update(done: Int, after elapsed: Duration) -> String? {
        if isTerminal {
            if let shownAt, elapsed - shownAt < Self.redraw { return nil }
            shownAt = elapsed
            return "\r\(bar(done: done, after: elapsed))\u{1B}[K"
        }
        let tenth = total > 0 ? done * 10 / total : 10
        guard tenth > shownTenth || elapsed - (shownAt ?? .zero) >= Self.line else { return nil }
        (shownAt, shownTenth, shownDone) = (elapsed, tenth, done)
        return "\(title): \(figures(done: done, after: elapsed))\n"
    }

    /// Returns the final text; `nil` if the last line already shows it.
    func end(done: Int, after elapsed: Duration) -> String? {
        if isTerminal { return "\r\(bar(done: done, after: elapsed))\u{1B}[K\n" }
        return done == shownDone ? nil : "\(title): \(figures(done: done, after: elapsed))\n"
    }

    /// Returns the bar. It is shorter than a terminal line, because a carriage return moves only to the start
    /// of the last line.
    private func bar(done: Int, after elapsed: Duration) -> String {
        let figures = figures(done: done, after: elapsed)
        let width = min(24, columns - 1 - title.count - figures.count - 4)
        guard width >= 4 else { return String("\(title) \(figures)".prefix(max(1, columns - 1))) }
        let filled = total > 0 ? min(width, done * width / total) : width
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "\(title) [\(bar)] \(figures)"
    }

    private func figures(done: Int, after elapsed: Duration) -> String {
        let percent = total > 0 ? min(100, done * 100 / total) : 100
        var text = "\(percent) %, \(done) of \(total)"
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        guard seconds >= 1, done > 0 else { return text }
        let perSecond = Double(done) / seconds
        text += perSecond >= 10 ? ", \(Int(perSecond))/s" : ", \(Int(perSecond * 60))/min"
        let left = Double(total - done) / perSecond
        if total > done, left.isFinite, left < 1e9 { text += ", \(Self.words(forSeconds: Int(left))) left" }
        return text
    }

    private static func words(forSeconds seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
