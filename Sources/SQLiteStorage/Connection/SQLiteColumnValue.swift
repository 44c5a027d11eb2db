import AppleAccounts
import Cryptography
import Foundation
import GRDB

/// A type that a column of SQLite can have.
protocol SQLiteColumnValue {
    /// Reads a column of the row that a statement is at. Returns `nil` for NULL, and for a value that is none
    /// of this type.
    init?(_ statement: OpaquePointer, at place: Int32)

    /// Binds a copy of the value to the parameter with this number. Returns SQLite's code.
    func bind(to statement: OpaquePointer, number: Int32) -> Int32
}

extension Int64: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let value = Int64.fromStatement(statement, atUncheckedIndex: place) else { return nil }
        self = value
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 { bind(to: statement, at: number) }
}

extension String: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let value = String.fromStatement(statement, atUncheckedIndex: place) else { return nil }
        self = value
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 { bind(to: statement, at: number) }
}

extension Data: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let value = Data.fromStatement(statement, atUncheckedIndex: place) else { return nil }
        self = value
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 { bind(to: statement, at: number) }
}

/// Stored as 0 and 1.
extension Bool: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let value = Int64(statement, at: place) else { return nil }
        self = value == 1
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        Int64(self ? 1 : 0).bind(to: statement, number: number)
    }
}

extension [UInt8]: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let data = Data(statement, at: place) else { return nil }
        self = Array(data)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        Data(self).bind(to: statement, number: number)
    }
}

extension UniqueID: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let data = Data(statement, at: place) else { return nil }
        self.init(data)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        data.bind(to: statement, number: number)
    }
}

extension SHA256Digest: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let data = Data(statement, at: place) else { return nil }
        self.init(data)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        withUnsafeBytes { Data($0) }.bind(to: statement, number: number)
    }
}

extension SHA512Digest: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let data = Data(statement, at: place) else { return nil }
        self.init(data)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        bytes.bind(to: statement, number: number)
    }
}

extension KeyDigest: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let data = Data(statement, at: place) else { return nil }
        self.init(data)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        data.bind(to: statement, number: number)
    }
}

extension Moment: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let milliseconds = Int64(statement, at: place) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        milliseconds.bind(to: statement, number: number)
    }
}

// Values of the domain that a column holds in another form.
extension SQLiteColumnValue where Self: StoredForm, Stored: SQLiteColumnValue {
    init?(_ statement: OpaquePointer, at place: Int32) {
        guard let stored = Stored(statement, at: place) else { return nil }
        self.init(stored: stored)
    }

    func bind(to statement: OpaquePointer, number: Int32) -> Int32 {
        stored.bind(to: statement, number: number)
    }
}

extension AccountID: SQLiteColumnValue {}
extension ErasureID: SQLiteColumnValue {}
extension EventID: SQLiteColumnValue {}
extension GrantID: SQLiteColumnValue {}
extension OAuthClientID: SQLiteColumnValue {}
extension InboxIdentifier: SQLiteColumnValue {}
extension NonceDigest: SQLiteColumnValue {}
extension SealedSecret: SQLiteColumnValue {}
extension TicketDigest: SQLiteColumnValue {}
