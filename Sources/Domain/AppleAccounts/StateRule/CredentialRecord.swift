/// The state rule: the latest authorization and the latest revocation of one user for one app.
///
/// The credential is authorized if the authorization is strictly later, else revoked. Nothing else is stored,
/// and `merge` takes the later of each, so that any order and any number of deliveries of the same facts
/// gives the same record.
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

    /// `nil` when the state is `notFound`.
    public var reason: CredentialReason? {
        switch state {
        case .authorized: .signedIn
        case .revoked: revocation?.reason
        case .notFound: nil
        }
    }

    /// `nil` when the state is `notFound`.
    public var source: CredentialSource? {
        switch state {
        case .authorized: authorization?.source
        case .revoked: revocation?.source
        case .notFound: nil
        }
    }

    /// The moment of the fact that decides the state. `nil` when the state is `notFound`.
    public var since: Moment? {
        switch state {
        case .authorized: authorization?.moment
        case .revoked: revocation?.moment
        case .notFound: nil
        }
    }

    /// Returns true if a token of this moment may sign in: only a token issued after the latest revocation,
    /// even if its signature is valid. Identity tokens live for a day, longer than many a consent.
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
