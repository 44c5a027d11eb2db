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
            // A window can be resized meanwhile.
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
    /// Shows a bar for work that reports its total itself.
    static func shown<Result>(
        _ title: String, _ work: (_ begin: (Int) -> Void, _ progress: () -> Void) async throws -> Result
    ) async throws -> Result {
        var bar: ProgressBar?
        let result = try await work({ bar = ProgressBar(title: title, total: $0) }, { bar?.advance() })
        bar?.end()
        return result
    }
}
