/// A user's latest authorization of one app, and its latest revocation. Together they determine the
/// credential state.
///
/// The credential is authorized if the authorization is strictly later, otherwise revoked. Nothing else is
/// stored, and `merge` keeps the later authorization and the later revocation, so the same facts produce the
/// same record in any order, even if some are delivered repeatedly.
public struct CredentialRecord: Sendable, Hashable {
    public private(set) var authorization: Authorization?
    public private(set) var revocation: Revocation?

    public init(authorization: Authorization? = nil, revocation: Revocation? = nil) {
        (self.authorization, self.revocation) = (authorization, revocation)
    }

    public var state: CredentialState {
        switch (authorization, revocation) {
        case (nil, nil): .notFound
        case (nil, .some): .revoked
        case (.some, nil): .authorized
        case (.some(let authorization), .some(let revocation)):
            authorization.moment > revocation.moment ? .authorized : .revoked
        }
    }

    /// The reason for the state; `nil` when the state is `notFound`.
    public var reason: CredentialReason? {
        switch state {
        case .authorized: .signedIn
        case .revoked: revocation?.reason
        case .notFound: nil
        }
    }

    /// The source of the fact that determines the state; `nil` when the state is `notFound`.
    public var source: CredentialSource? {
        switch state {
        case .authorized: authorization?.source
        case .revoked: revocation?.source
        case .notFound: nil
        }
    }

    /// Time of the fact that determines the state; `nil` when the state is `notFound`.
    public var since: Moment? {
        switch state {
        case .authorized: authorization?.moment
        case .revoked: revocation?.moment
        case .notFound: nil
        }
    }

    /// Returns true if a token issued at this moment may sign the user in. It must be issued after the latest
    /// revocation: an identity token is valid for a day, so an earlier token may not have expired yet.
    public func admits(authorizationAt moment: Moment) -> Bool {
        revocation.map { moment > $0.moment } ?? true
    }

    public mutating func merge(_ other: CredentialRecord) {
        if let theirs = other.authorization { merge(theirs) }
        if let theirs = other.revocation { merge(theirs) }
    }

    public mutating func merge(_ other: Authorization) {
        authorization = authorization.map { max($0, other) } ?? other
    }

    public mutating func merge(_ other: Revocation) {
        revocation = revocation.map { max($0, other) } ?? other
    }

    public func merged(with other: Revocation?) -> CredentialRecord {
        guard let other else { return self }
        var result = self
        result.merge(other)
        return result
    }
}

/// The state of a user's Apple credential for one app, named as in Apple's `getCredentialState`.
public enum CredentialState: String, Sendable, Hashable, CaseIterable {
    /// The user may stay signed in.
    case authorized
    /// The user must be signed out.
    case revoked
    /// The user has never used this app.
    case notFound
}

/// Reason for a credential's state.
public enum CredentialReason: String, Sendable, Hashable, CaseIterable {
    case signedIn = "signed_in"
    case consentRevoked = "consent_revoked"
    case appleAccountDeleted = "apple_account_deleted"
    /// Apple refused the refresh token. This also happens after the Apple Account's password changes.
    case refreshTokenRejected = "refresh_token_rejected"
    /// This service erased the account.
    case erased
}

/// The source of a fact.
public enum CredentialSource: String, Sendable, Hashable, CaseIterable {
    case signIn = "sign_in"
    case notification
    case dailyCheck = "daily_check"
    case erasure
}

/// The user's consent: the time it was given, by Apple's clock, and the source of this fact.
public struct Authorization: Sendable, Hashable {
    public let moment: Moment
    public let source: CredentialSource

    public init(moment: Moment, source: CredentialSource) {
        (self.moment, self.source) = (moment, source)
    }
}

extension Authorization: Comparable {
    /// Compares moments. The source only breaks ties, so that the result does not depend on the order of
    /// arrival.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.moment, lhs.source.rank) < (rhs.moment, rhs.source.rank)
    }
}

extension CredentialSource {
    /// Breaks ties between equal moments. Apple's notifications win over our own requests and actions.
    var rank: Int {
        switch self {
        case .erasure: 0
        case .dailyCheck: 1
        case .signIn: 2
        case .notification: 3
        }
    }
}

/// The end of the user's consent: its time, by Apple's clock (or ours, if we ended it), and the reason.
public struct Revocation: Sendable, Hashable {
    public let moment: Moment
    public let reason: CredentialReason
    public let source: CredentialSource

    public init(moment: Moment, reason: CredentialReason, source: CredentialSource) {
        (self.moment, self.reason, self.source) = (moment, reason, source)
    }
}

extension Revocation: Comparable {
    /// Compares moments. The reason and the source only break ties, so that the result does not depend on the
    /// order of arrival.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.moment, lhs.reason.rank, lhs.source.rank) < (rhs.moment, rhs.reason.rank, rhs.source.rank)
    }
}

extension CredentialReason {
    /// Breaks ties between equal moments. The more final reason wins.
    fileprivate var rank: Int {
        switch self {
        case .signedIn: 0
        case .refreshTokenRejected: 1
        case .consentRevoked: 2
        case .erased: 3
        case .appleAccountDeleted: 4
        }
    }
}

/// A value that many facts can set. The value with the latest moment, by Apple's clock, wins.
///
/// If two values have the same moment, the greater value wins,
/// so the outcome never depends on the order of arrival.
public struct LastWriter<Value: Comparable & Sendable>: Sendable, Equatable {
    public private(set) var value: Value
    public private(set) var moment: Moment

    public init(_ value: Value, at moment: Moment) {
        (self.value, self.moment) = (value, moment)
    }

    /// Keeps the later of the two values. Commutative, associative, idempotent.
    public mutating func merge(_ other: LastWriter<Value>) {
        guard (moment, value) < (other.moment, other.value) else { return }
        self = other
    }

    public func merged(with other: LastWriter<Value>?) -> LastWriter<Value> {
        guard let other else { return self }
        var result = self
        result.merge(other)
        return result
    }
}

extension LastWriter: Hashable where Value: Hashable {}
