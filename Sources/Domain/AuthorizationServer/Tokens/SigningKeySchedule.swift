public import AppleAccounts

/// Decides when to create signing keys, which key signs, and which keys are published.
///
/// A key is published a day before it signs, so that every verifier already knows its `kid`. It signs for 90
/// days, and stays published until the last token that it signed has expired. The schedule does no I/O and
/// reads no clock.
public struct SigningKeySchedule: Sendable, Hashable {
    /// Milliseconds from a key's first signature to its successor's first signature: 90 days.
    public static let rotation: Int64 = 90 * 86_400_000
    /// Milliseconds from a key's publication to its first signature: a day. Verifiers cache the key set for
    /// an hour.
    public static let lead: Int64 = 86_400_000
    /// Maximum time that a key signs beyond its period if no successor can be stored, in milliseconds: 30
    /// days.
    public static let reserve: Int64 = 30 * 86_400_000
    /// Maximum difference between the clocks of replicas and verifiers, in milliseconds: an hour.
    static let clockDifference: Int64 = 3_600_000

    /// Maximum lifetime of a token in milliseconds.
    public let longestToken: Int64

    public init(longestToken: Int64) {
        self.longestToken = longestToken
    }

    /// A new key's times, and the condition for storing it.
    public struct NewKey: Sendable, Hashable {
        public let signsFrom: Moment
        public let retiresAt: Moment
        /// The time from which a key stored by another replica makes the new key unnecessary.
        public let unlessMadeAfter: Moment
    }

    /// - Parameter keys: The keys of one algorithm that have a usable private key.
    public func signing(_ keys: [SigningKeyRecord], at now: Moment) -> SigningKeyRecord? {
        let usable = keys.filter { now < $0.retiresAt.advanced(byMilliseconds: -longestToken) }
        // If no key signs yet, this replica's clock is behind the clock of the replica that created the first
        // key.
        return usable.filter { $0.signsFrom <= now }.max(by: Self.areInOrder)
            ?? usable.min(by: Self.areInOrder)
    }

    /// Returns the keys that verifiers need to know at this moment.
    ///
    /// - Parameters:
    ///   - keys: The keys of one algorithm.
    ///   - usable: The keys with a usable private key. The others sign nothing, so they cannot replace a key.
    public func published(
        _ keys: [SigningKeyRecord], usable: [SigningKeyRecord], at now: Moment
    ) -> [SigningKeyRecord] {
        keys.filter { key in
            let isReplaced = usable.contains { successor in
                let end = successor.signsFrom.advanced(byMilliseconds: longestToken + Self.clockDifference)
                return Self.areInOrder(key, successor) && end <= now
            }
            return now < key.retiresAt && !isReplaced
        }
    }

    /// - Parameters:
    ///   - keys: All keys of one algorithm.
    ///   - signing: The key that signs at this moment.
    /// - Returns: `nil` if no new key is needed yet.
    public func newKey(
        after keys: [SigningKeyRecord], signing: SigningKeyRecord?, at now: Moment
    ) -> NewKey? {
        let newest = keys.max(by: Self.areInOrder)
        let signsFrom: Moment
        if signing == nil {
            // Delaying the first signature would gain nothing, because no other key can sign in the meantime.
            signsFrom = now
        } else if let newest,
            newest.signsFrom.advanced(byMilliseconds: Self.rotation - Self.lead) <= now
        {
            signsFrom = max(
                newest.signsFrom.advanced(byMilliseconds: Self.rotation),
                now.advanced(byMilliseconds: Self.lead))
        } else {
            return nil
        }
        return NewKey(
            signsFrom: signsFrom,
            retiresAt: signsFrom.advanced(byMilliseconds: Self.rotation + Self.reserve + longestToken),
            unlessMadeAfter: newest?.createdAt.advanced(byMilliseconds: 1) ?? Moment(milliseconds: 0))
    }

    /// Returns true if `lhs` signs before `rhs`. The key ID breaks ties, so that the order is total.
    private static func areInOrder(_ lhs: SigningKeyRecord, _ rhs: SigningKeyRecord) -> Bool {
        (lhs.signsFrom, lhs.keyID) < (rhs.signsFrom, rhs.keyID)
    }
}

/// A signature algorithm of this service's tokens (RFC 7518 §3.1).
public enum TokenAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA with P-256. Signing is much faster than with RSA.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5, for resource servers that support no other algorithm. OpenID Connect requires
    /// servers to be able to sign ID tokens with it.
    case rs256 = "RS256"
}
