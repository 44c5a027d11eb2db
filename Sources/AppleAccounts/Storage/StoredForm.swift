package import Cryptography

/// A value of the domain that stores keep as another, simpler one.
package protocol StoredForm {
    associatedtype Stored

    /// Returns `nil` for what no such value is stored as.
    init?(stored: Stored)

    var stored: Stored { get }
}

extension AccountID: StoredForm {
    package init(stored: UniqueID) { self.init(stored) }
    package var stored: UniqueID { uniqueID }
}

extension ErasureID: StoredForm {
    package init(stored: UniqueID) { self.init(stored) }
    package var stored: UniqueID { uniqueID }
}

extension EventID: StoredForm {
    package init(stored: UniqueID) { self.init(stored) }
    package var stored: UniqueID { uniqueID }
}

extension GrantID: StoredForm {
    package init(stored: UniqueID) { self.init(stored) }
    package var stored: UniqueID { uniqueID }
}

extension OAuthClientID: StoredForm {
    package init?(stored: String) { self.init(stored) }
    package var stored: String { rawValue }
}

extension TeamID: StoredForm {
    package init?(stored: String) { self.init(stored) }
    package var stored: String { rawValue }
}

extension ClientID: StoredForm {
    package init?(stored: String) { self.init(stored) }
    package var stored: String { rawValue }
}

extension InboxIdentifier: StoredForm {
    package init?(stored: String) { self.init(stored) }
    package var stored: String { rawValue }
}

extension SealedSecret: StoredForm {
    package init?(stored: [UInt8]) { self.init(stored) }
    package var stored: [UInt8] { bytes }
}

extension NonceDigest: StoredForm {
    package init(stored: SHA256Digest) { self.init(stored) }
    package var stored: SHA256Digest { digest }
}

extension TicketDigest: StoredForm {
    package init(stored: SHA256Digest) { self.init(stored) }
    package var stored: SHA256Digest { digest }
}
