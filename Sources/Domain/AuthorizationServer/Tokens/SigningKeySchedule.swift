public import AppleAccounts

/// Decides when a signing key is created, which key signs, and which keys are published.
///
/// A key is published a day before it signs, so that every verifier already knows its `kid`. It signs for 90
/// days, and stays published until the last token that it signed has expired. Does no I/O and reads no clock.
public struct SigningKeySchedule: Sendable, Hashable {
    /// Milliseconds from the first signature of a key to the first signature of its successor: 90 days.
    public static let rotation: Int64 = 90 * 86_400_000
    /// Milliseconds from publication to the first signature: a day. Verifiers keep the key set for an hour.
    public static let lead: Int64 = 86_400_000
    /// Milliseconds for which a key may sign after its time while no successor can be stored: 30 days.
    public static let reserve: Int64 = 30 * 86_400_000
    /// Largest difference in milliseconds between the clocks of replicas and verifiers: an hour.
    static let clockDifference: Int64 = 3_600_000

    /// Longest lifetime of a token in milliseconds.
    public let longestToken: Int64

    public init(longestToken: Int64) {
        self.longestToken = longestToken
    }

    /// The times of a new key.
    public struct NewKey: Sendable, Hashable {
        public let signsFrom: Moment
        public let retiresAt: Moment
        /// Time from which a stored key makes a new key unnecessary: another replica was first.
        public let unlessMadeAfter: Moment
    }

    /// - Parameter keys: The keys of one algorithm whose private part can be used.
    public func signing(_ keys: [SigningKeyRecord], at now: Moment) -> SigningKeyRecord? {
        let usable = keys.filter { now < $0.retiresAt.advanced(byMilliseconds: -longestToken) }
        // If no key signs yet, the clock of this replica is behind the
        // clock of the replica that created the first key.
        return usable.filter { $0.signsFrom <= now }.max(by: Self.areInOrder)
            ?? usable.min(by: Self.areInOrder)
    }

    /// Returns the keys that verifiers must know at this moment.
    ///
    /// - Parameters:
    ///   - keys: The keys of one algorithm.
    ///   - usable: The keys among them whose private part can be used. Other keys
    ///     replace none, because they sign nothing.
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
    /// - Returns: `nil` when no key is needed yet.
    public func newKey(
        after keys: [SigningKeyRecord], signing: SigningKeyRecord?, at now: Moment
    ) -> NewKey? {
        let newest = keys.max(by: Self.areInOrder)
        let signsFrom: Moment
        if signing == nil {
            // No key can sign meanwhile, so waiting has no benefit.
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

    /// Orders keys by their first signature. The key ID only makes the order total.
    private static func areInOrder(_ lhs: SigningKeyRecord, _ rhs: SigningKeyRecord) -> Bool {
        (lhs.signsFrom, lhs.keyID) < (rhs.signsFrom, rhs.keyID)
    }
}

/// An algorithm that signs tokens of this service (RFC 7518 §3.1).
public enum TokenAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA with P-256. A signature takes a fraction of the time of RSA.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5, for resource servers that support no other algorithm. OpenID Connect requires that
    /// ID tokens can be signed with it.
    case rs256 = "RS256"
}
