import Foundation

/// Room on the disk of the database file.
enum DiskSpace {
    /// In bytes. A few pages may always fit where the log has left some, although the next sign-in does not.
    static let least: UInt = 1 << 20

    /// Returns the number of bytes that this process can still write to the file system of the path; `nil`
    /// when it cannot be read. Blocks while the file system hangs.
    static func free(at path: String) -> Int64? {
        guard let status = status(at: path) else { return nil }
        let (bytes, overflow) = Int64(clamping: status.f_bavail)
            .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }

    private static func status(at path: String) -> statvfs? {
        var status = statvfs()
        let directory = (path as NSString).deletingLastPathComponent
        guard statvfs(path, &status) == 0 || statvfs(directory.isEmpty ? "." : directory, &status) == 0
        else { return nil }
        return status
    }

    /// Returns true if less than `least` is free on the file system of the path. Blocks while the file system
    /// hangs.
    static func isExhausted(at path: String) -> Bool {
        guard let status = status(at: path) else { return false }
        // A read-only file system has no meaningful free space.
        guard UInt(status.f_flag) & UInt(ST_RDONLY) == 0 else { return false }
        // Divided, because on a file system without limits the product of these numbers overflows.
        return UInt(status.f_bavail) < least / max(1, UInt(status.f_frsize))
    }
}
