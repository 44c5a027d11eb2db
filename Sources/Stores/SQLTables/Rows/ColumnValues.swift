public import AppAttestation
public import AppleAccounts
public import Cryptography

// Storage forms of the value types, for both stores.

extension Int64: ColumnValue {
    @inlinable public static var form: ColumnForm { .integer }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.integer() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension String: ColumnValue {
    @inlinable public static var form: ColumnForm { .text }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.text() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension Bool: ColumnValue {
    @inlinable public static var form: ColumnForm { .boolean }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.boolean() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension UniqueID: ColumnValue {
    @inlinable public static var form: ColumnForm { .uniqueID }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.uniqueID() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension [UInt8]: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ Array($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { withUnsafeBytes { slot.put($0) } }
}

extension SHA256Digest: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }
    @inlinable public static var bound: ColumnBound? { .length(32...32) }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ SHA256Digest($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { withUnsafeBytes { slot.put($0) } }
}

extension SHA512Digest: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }
    @inlinable public static var bound: ColumnBound? { .length(64...64) }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ SHA512Digest($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { bytes.withUnsafeBytes { slot.put($0) } }
}

/// A domain value that a column stores as another, simpler value.
public protocol StoredForm: ColumnValue {
    associatedtype Stored: ColumnValue

    /// Returns `nil` for a stored value that is not valid for this type.
    init?(stored: Stored)

    var stored: Stored { get }
}

extension StoredForm {
    @inlinable public static var form: ColumnForm { Stored.form }
    @inlinable public static var bound: ColumnBound? { Stored.bound }

    @inlinable public init?(cell: some ColumnCell) {
        guard let stored = Stored(cell: cell) else { return nil }
        self.init(stored: stored)
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { stored.put(into: &slot) }
}

extension Moment: StoredForm {
    @inlinable public static var bound: ColumnBound? { .range(0...Moment.last.milliseconds) }
    @inlinable public init(stored: Int64) { self.init(milliseconds: stored) }
    @inlinable public var stored: Int64 { milliseconds }
}

extension AccountID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension ErasureID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension EventID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension GrantID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension OAuthClientID: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...255) }
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension ReceiverName: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...ReceiverName.longest) }
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension TeamID: StoredForm {
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension ClientID: StoredForm {
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension InboxIdentifier: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...255) }
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension SealedSecret: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...SealedSecret.longest) }
    @inlinable public init?(stored: [UInt8]) { self.init(stored) }
    @inlinable public var stored: [UInt8] { bytes }
}

extension NonceDigest: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension TicketDigest: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension AttestedKeyID: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension AppID: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(12...166) }
    @inlinable public init?(stored: String) { self.init(text: stored) }
    @inlinable public var stored: String { text }
}
