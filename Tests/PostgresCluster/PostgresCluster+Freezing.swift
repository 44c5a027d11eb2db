import Foundation

extension PostgresCluster {
    /// Stops all of its processes where they are. Connections stay open, new ones are taken in by the kernel,
    /// and nothing is answered: as if the machine hung.
    public func freeze() throws {
        for process in try processes() { kill(process, SIGSTOP) }
    }

    public func thaw() throws {
        for process in try processes() { kill(process, SIGCONT) }
    }

    /// The first is the one that starts the others.
    private func processes() throws -> [pid_t] {
        let file = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
        guard let main = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw POSIXError(.ESRCH)
        }
        let children = try String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)
        return [main] + children.split(separator: " ").compactMap { pid_t($0) }
    }
}
