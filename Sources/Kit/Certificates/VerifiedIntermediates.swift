import Cryptography
import Synchronization

/// The intermediate certificates that a root was verified to have issued. With them the signature of the root, half
/// of the cost of a chain on P-384, is verified once for each.
///
/// Only a chain that was verified up to the root adds an entry. So a caller cannot fill this memory, and no entry can
/// come from a certificate that the root has not signed. An entry is found by the digest of the whole certificate: a
/// certificate with one other byte is another one.
final class VerifiedIntermediates: Sendable {
    /// A root has one intermediate certificate, or two while one follows the other.
    static let most = 8

    private let most: Int
    private let entries = Mutex<[SHA256Digest: VerifiedIntermediate]>([:])

    init(most: Int) { self.most = most }

    var count: Int { entries.withLock { $0.count } }

    /// Returns `nil` for a certificate that was not verified, or is not valid at this time: the verification
    /// up to the root then names the reason.
    func find(_ digest: SHA256Digest, at now: Int64) -> VerifiedIntermediate? {
        guard let entry = entries.withLock({ $0[digest] }), entry.validity.contains(now) else { return nil }
        return entry
    }

    /// Drops the entry that ends first when the memory is full.
    func add(_ entry: VerifiedIntermediate, _ digest: SHA256Digest) {
        guard most > 0 else { return }
        entries.withLock { entries in
            if entries.count >= most, entries[digest] == nil {
                let first = entries.min { $0.value.validity.upperBound < $1.value.validity.upperBound }
                if let first { entries[first.key] = nil }
            }
            entries[digest] = entry
        }
    }
}
