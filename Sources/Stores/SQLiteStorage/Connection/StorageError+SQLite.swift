import AppleAccounts
import GRDB

extension StorageError {
    /// Maps a GRDB or SQLite error to the service's error. The detail contains SQLite's message and the SQL,
    /// but never values.
    init(_ error: any Error) {
        if let error = error as? StorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.unavailable, detail: "\(error)")
            return
        }
        let detail =
            "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "") \(error.sql ?? "")"
        self.init(Code(error), detail: detail, databaseCode: "\(error.extendedResultCode.rawValue)")
    }
}

extension StorageError.Code {
    fileprivate init(_ error: DatabaseError) {
        self =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupted
            // The name of a number is missing although another row refers to the number.
            case .SQLITE_CONSTRAINT where error.extendedResultCode == .SQLITE_CONSTRAINT_NOTNULL: .corrupted
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG: .valueRefused
            default: .unavailable
            }
    }
}
