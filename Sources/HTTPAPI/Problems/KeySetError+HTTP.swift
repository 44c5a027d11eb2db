import AppleIdentity
import KeySets

extension KeySetError {
    var problem: Problem {
        switch code {
        case .unknownKey: AppleTokenError(.unknownKey).problem
        case .keysUnavailable: Problem(.keysUnavailable)
        }
    }
}
