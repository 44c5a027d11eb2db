import Foundation
import Synchronization

/// Reads the modes of files as fast as possible while they are created, and records which files others could
/// access at any time.
final class ModeWatch: Sendable {
    private let paths: [String]
    private let state = Mutex(State())

    private struct State {
        var seen: Set<String> = []
        var open: Set<String> = []
        var hasBegun = false
        var isStopped = false
    }

    /// - Parameter paths: The paths of files that do not exist yet.
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

    /// Files that existed at some time.
    var seen: Set<String> { state.withLock(\.seen) }
    /// Files that users other than the owner could read or write at some time.
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
