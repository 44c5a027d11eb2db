import AppleAccounts
import Foundation

/// Finds in the file system, after a failed attempt, the reason why a SQLite file cannot be opened.
enum SQLiteMistake {
    /// - Returns: `nil` for errors that can pass without the operator.
    static func words(for code: StorageError.Code, path: String) -> String? {
        switch code {
        case .busy:
            "another process has the database \(path) open; stop it first: siwa serve may run already, or siwa "
                + "reseal or siwa transfer"
        case .schemaTooNew:
            "the database \(path) was written by a newer version of siwa; install that version or a newer one"
        case .corrupted:
            isDatabase(path)
                ? "the database \(path) is damaged; restore a backup"
                : "the file \(path) is no SQLite database; correct DATABASE_URL, or move the file away"
        case .unavailable, .readOnly: place(path)
        case .full, .migrationFailed, .valueRefused: nil
        }
    }

    private static func place(_ path: String) -> String? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) else {
            return
                "the folder \(folder) of DATABASE_URL does not exist; create it, owned by the user that runs siwa "
                + "serve, or correct the path"
        }
        guard isDirectory.boolValue else {
            return "\(folder) of DATABASE_URL is a file; a folder is expected; correct the path"
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            return "\(path) of DATABASE_URL is a folder; name a file in it"
        }
        for file in [path, path + "-wal", path + "-shm", path + ".lock"]
        where FileManager.default.fileExists(atPath: file)
            && !FileManager.default.isWritableFile(atPath: file)
        {
            return "this user may not write \(file); let it belong to the user that runs siwa serve"
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            return
                "this user may not write into the folder \(folder); let it belong to the user that runs siwa serve"
        }
        return nil
    }

    /// The first bytes of every SQLite file (sqlite.org/fileformat.html, "Magic Header String").
    private static func isDatabase(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }
}
