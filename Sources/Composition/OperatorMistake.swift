import AppleAccounts
package import ArgumentParser
import Foundation
import HTTPAPI
import HTTPEngine
import NIOCore
import NIOPosix
import PostgresStorage

/// A mistake that only the operator can correct, described for readers who do not know the code. A restart
/// would fail again, so a service manager should not restart the service.
package struct OperatorMistake: Error, Equatable, CustomStringConvertible {
    /// EX_CONFIG in sysexits.h. The systemd unit does not restart the service after this exit status.
    package static let exitStatus = ExitCode(78)

    package let description: String
    /// True if another program may correct the mistake, for example by creating the database. The service
    /// manager then restarts the service.
    let mayPass: Bool

    init(_ description: String, mayPass: Bool = false) {
        (self.description, self.mayPass) = (description, mayPass)
    }

    /// Finds the operator's mistake behind an error from opening the database.
    ///
    /// - Returns: `nil` for an error that can disappear without the operator.
    package init?(_ error: any Error, database: DatabaseLocation) {
        guard let error = error as? StorageError else { return nil }
        var mayPass = false
        let found: String?
        switch database {
        case .sqlite(let path): found = SQLiteMistake.words(for: error.code, path: path)
        case .postgres(let address):
            switch error.code {
            case .unavailable:
                let refusal = PostgresRefusal.find(at: address)
                mayPass = refusal == .databaseMissing
                found = refusal?.words(for: address)
            // A wrong encoding, pooler or server remains a problem until the operator changes it.
            case .migrationFailed: found = "\(address.place) cannot be used: \(error.detail)"
            case .busy, .full, .readOnly, .corrupted, .schemaTooNew, .valueRefused: found = nil
            }
        }
        guard let found else { return nil }
        self.init(found, mayPass: mayPass)
    }

    /// Returns true if only the operator can correct this error of the running service.
    package static func isOne(_ error: any Error) -> Bool {
        if let mistake = error as? OperatorMistake { return !mistake.mayPass }
        guard let error = error as? ListenError else { return false }
        return error.cause is SocketAddressError || error.cause is SocketAddressError.UnknownHost
            || (error.cause as? IOError)?.errnoCode == EACCES
    }
}

extension PostgresRefusal {
    fileprivate func words(for address: PostgresAddress) -> String {
        switch self {
        case .unknownHost(let host):
            "the host \(host) of DATABASE_URL is not known to the name servers; correct the name"
        case .passwordMissing:
            "\(address.place) wants a password and DATABASE_URL has none; add it, or set PGPASSWORD or a .pgpass file"
        case .passwordWrong:
            "\(address.place) refuses the password; correct it in DATABASE_URL, with special characters "
                + "percent-encoded, or in PGPASSWORD"
        case .userRefused:
            "\(address.place) does not let this user in; create the role, and allow it in pg_hba.conf"
        case .databaseMissing:
            "\(address.place) does not exist; create the database, or correct DATABASE_URL"
        }
    }
}

/// Examines the file system after a failed attempt, to find out why a SQLite file cannot be opened.
enum SQLiteMistake {
    /// - Returns: `nil` for an error that can disappear without the operator.
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

    /// Returns true if the file begins with the first bytes of every SQLite file (sqlite.org/fileformat.html,
    /// "Magic Header String").
    private static func isDatabase(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }
}

/// Tries to listen on addresses before a command opens a database or starts a server, so that the error is
/// the only line that the command prints.
///
/// Another program can bind an address after the trial; the server itself then fails with the same error.
package enum ListenTrial {
    /// - Parameter addresses: Addresses to try. An address with port 0 is skipped, because the system chooses
    ///   its port.
    /// - Throws: `ListenError` for the first address that this process cannot listen on.
    package static func run(on addresses: [(host: String, port: Int)]) async throws {
        for (host, port) in addresses where port != 0 {
            do {
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    // Accepts no clients, because a client would wait for a response until this process
                    // exits. When the socket closes, the system refuses waiting clients.
                    .serverChannelOption(.autoRead, value: false)
                    .bind(host: host, port: port).get()
                try await channel.close()
            } catch {
                throw ListenError(host: host, port: port, cause: error)
            }
        }
    }
}
