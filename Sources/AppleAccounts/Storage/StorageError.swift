public import Encodings

/// Why the database could not do what was asked.
public struct StorageError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// It cannot be opened, reached or read.
        case unavailable
        /// Another process or transaction holds it.
        case busy
        /// The disk has no room.
        case full
        case readOnly
        case corrupted
        /// It was written by a newer version of the service.
        case schemaTooNew
        case migrationFailed
        /// It takes no such value. The rules of this module should have refused it before.
        case valueRefused
    }

    public let code: Code
    /// For the debugger and the log of the operator: the database's own words, with SQL and no values.
    public let detail: String

    public init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }
}

extension StorageError: CustomDebugStringConvertible {
    public var description: String { "storage failed: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
