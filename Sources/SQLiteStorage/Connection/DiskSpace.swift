import Foundation

/// Room on the disk of the database file.
enum DiskSpace {
    /// A few pages may fit all the time, where the log has left some, and the next sign-in does not.
    static let least: UInt = 1 << 20

    /// Whether there is less than that where a file is or would be. Blocks while the file system hangs.
    static func isExhausted(at path: String) -> Bool {
        var status = statvfs()
        let directory = (path as NSString).deletingLastPathComponent
        guard statvfs(path, &status) == 0 || statvfs(directory.isEmpty ? "." : directory, &status) == 0
        else { return false }
        // One that takes no writes at all has no room to speak of.
        guard UInt(status.f_flag) & UInt(ST_RDONLY) == 0 else { return false }
        // Divided, because on a file system without limits the product of these numbers overflows.
        return UInt(status.f_bavail) < least / max(1, UInt(status.f_frsize))
    }
}
