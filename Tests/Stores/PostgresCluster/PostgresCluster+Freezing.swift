import Foundation

extension PostgresCluster {
    /// Suspends all server processes, as if the machine hung: connections stay open, the kernel accepts new
    /// connections, and no request gets a response.
    public func freeze() throws {
        for process in try processes() { Foundation.kill(process, SIGSTOP) }
    }

    public func thaw() throws {
        for process in try processes() { Foundation.kill(process, SIGCONT) }
    }

    /// Ends all server processes at once with SIGKILL, as if the machine had lost its power.
    public func kill() throws {
        for process in try processes() { Foundation.kill(process, SIGKILL) }
    }

    /// Process IDs of the server. The first process starts the others.
    private func processes() throws -> [pid_t] {
        let file = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
        guard let main = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw POSIXError(.ESRCH)
        }
        let children = try String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)
        return [main] + children.split(separator: " ").compactMap { pid_t($0) }
    }
}
