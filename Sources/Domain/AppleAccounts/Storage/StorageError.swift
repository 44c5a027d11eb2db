public import Encodings

/// The failure of a database operation.
public struct StorageError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The database cannot be opened, reached or read.
        case unavailable
        /// Another process or transaction holds the lock.
        case busy
        /// The disk is full.
        case full
        case readOnly
        case corrupted
        /// A newer version of the service wrote the database.
        case schemaTooNew
        case migrationFailed
        /// The database does not accept this value. This module's rules should already have refused it.
        case valueRefused
    }

    public let code: Code
    /// For the debugger and the operator's log: the database's own message, with SQL but no values.
    public let detail: String
    /// PostgreSQL's SQLSTATE or SQLite's extended result code; `nil` for other causes.
    public let databaseCode: String?

    public init(_ code: Code, detail: String, databaseCode: String? = nil) {
        (self.code, self.detail, self.databaseCode) = (code, detail, databaseCode)
    }
}

extension StorageError: CustomDebugStringConvertible {
    public var description: String { "storage failed: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
