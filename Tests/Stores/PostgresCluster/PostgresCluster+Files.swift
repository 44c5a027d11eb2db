import Foundation

extension PostgresCluster {
    /// Makes a directory owned by the server's user, also when this process is root.
    static func makeDirectory() throws -> String {
        // Short, because the path of a Unix socket has at most 107 bytes.
        let name = "siwa-pg-\(UInt32.random(in: 0 ... .max))"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try giveToServer(path)
        return path
    }

    static func giveToServer(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard let user = getpwnam("postgres") else { throw ServerPrograms.Missing() }
        guard chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else { throw POSIXError(.EPERM) }
    }

    static func append(_ text: String, to path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    /// Replaces a file in place, so that the server's user still owns it.
    static func replace(_ text: String, at path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}
