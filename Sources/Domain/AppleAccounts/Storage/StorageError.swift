public import Encodings

/// Failure of a database operation.
public struct StorageError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The database cannot be opened, reached or read.
        case unavailable
        /// Another process or transaction holds the lock.
        case busy
        /// The disk has no room.
        case full
        case readOnly
        case corrupted
        /// A newer version of the service wrote the database.
        case schemaTooNew
        case migrationFailed
        /// The database does not accept this value. The rules of this module should have refused it before.
        case valueRefused
    }

    public let code: Code
    /// For the debugger and the log of the operator: the database's own message, with SQL and no values.
    public let detail: String
    /// SQLSTATE of PostgreSQL, or the extended result code of SQLite; `nil` for other causes.
    public let databaseCode: String?

    public init(_ code: Code, detail: String, databaseCode: String? = nil) {
        (self.code, self.detail, self.databaseCode) = (code, detail, databaseCode)
    }
}

extension StorageError: CustomDebugStringConvertible {
    public var description: String { "storage failed: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
