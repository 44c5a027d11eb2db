/// Numbers of requests by kind.
public struct AppCheckTally: Sendable, Hashable {
    public var verified: Int64
    public var outdatedApp: Int64
    public var unknownOrigin: Int64
    public var invalid: Int64

    public init(verified: Int64 = 0, outdatedApp: Int64 = 0, unknownOrigin: Int64 = 0, invalid: Int64 = 0) {
        self.verified = verified
        self.outdatedApp = outdatedApp
        self.unknownOrigin = unknownOrigin
        self.invalid = invalid
    }

    public subscript(kind: AppCheckKind) -> Int64 {
        get {
            switch kind {
            case .verified: verified
            case .outdatedApp: outdatedApp
            case .unknownOrigin: unknownOrigin
            case .invalid: invalid
            }
        }
        set {
            switch kind {
            case .verified: verified = newValue
            case .outdatedApp: outdatedApp = newValue
            case .unknownOrigin: unknownOrigin = newValue
            case .invalid: invalid = newValue
            }
        }
    }

    /// All judged requests.
    public var total: Int64 { AppCheckKind.allCases.reduce(0) { $0 &+ self[$1] } }

    /// The requests that enforced mode refuses.
    public var refusable: Int64 { total &- verified }

    public static func += (tally: inout AppCheckTally, other: AppCheckTally) {
        for kind in AppCheckKind.allCases { tally[kind] &+= other[kind] }
    }
}
