import Foundation
import Synchronization

/// Looks at files as fast as it can while they are made, and remembers what others could do to them at any moment.
final class ModeWatch: Sendable {
    private let paths: [String]
    private let state = Mutex(State())

    private struct State {
        var seen: Set<String> = []
        var open: Set<String> = []
        var hasBegun = false
        var isStopped = false
    }

    /// - Parameter paths: Of files that are not there yet.
    static func watching(_ paths: [String], _ body: () async throws -> Void) async throws -> ModeWatch {
        let watch = ModeWatch(paths)
        let thread = Thread { watch.look() }
        thread.start()
        defer { watch.state.withLock { $0.isStopped = true } }
        while !watch.state.withLock(\.hasBegun) { await Task.yield() }
        try await body()
        return watch
    }

    private init(_ paths: [String]) {
        self.paths = paths
    }

    /// Files that were there at some moment.
    var seen: Set<String> { state.withLock(\.seen) }
    /// Files that others than the owner could read or write at some moment.
    var open: Set<String> { state.withLock(\.open) }

    private func look() {
        state.withLock { $0.hasBegun = true }
        while !state.withLock(\.isStopped) {
            for path in paths {
                var status = stat()
                guard stat(path, &status) == 0 else { continue }
                state.withLock { state in
                    state.seen.insert(path)
                    if status.st_mode & 0o077 != 0 { state.open.insert(path) }
                }
            }
        }
    }
}
