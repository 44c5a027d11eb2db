import AppleAccounts
import ArgumentParser
import Foundation
import HTTPAPI
import HTTPEngine
import NIOCore
import PostgresStorage

/// A mistake that only the operator can correct, in words for readers who do not know the code. A restart
/// would fail in the same way, so a service manager should not restart the service.
struct OperatorMistake: Error, Equatable, CustomStringConvertible {
    /// EX_CONFIG of sysexits.h. The systemd unit does not restart the service after it.
    static let exitStatus = ExitCode(78)

    let description: String
    /// True if another program may correct it, such as the one that creates the database: then the service manager
    /// starts the service again.
    let mayPass: Bool

    init(_ description: String, mayPass: Bool = false) {
        (self.description, self.mayPass) = (description, mayPass)
    }

    /// Finds the mistake behind an error of opening the database.
    ///
    /// - Returns: `nil` for errors that can pass without the operator.
    init?(_ error: any Error, database: DatabaseLocation) {
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
            // An unusable encoding, pooler or server stays as it is until the operator changes it.
            case .migrationFailed: found = "\(address.place) cannot be used: \(error.detail)"
            case .busy, .full, .readOnly, .corrupted, .schemaTooNew, .valueRefused: found = nil
            }
        }
        guard let found else { return nil }
        self.init(found, mayPass: mayPass)
    }

    /// True if an error of the running service can be corrected only by the operator.
    static func isOne(_ error: any Error) -> Bool {
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
