/// An error in an assertion. A service refuses each with a code of its own.
public enum AssertionFault: String, Sendable, CaseIterable {
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    case duplicateKeys = "duplicate_keys"
    case indefiniteLength = "indefinite_length"
    case longLength = "long_length"
    case tooLarge = "too_large"
    /// Signed for other client data.
    case nonce
    /// A bit of the signature is inverted.
    case signature
    case otherKey = "other_key"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"
    /// The counter of the previous assertion again.
    case counter
    case extensions

    /// The form of the object; `nil` when the error is elsewhere.
    var form: ObjectForm? { ObjectForm(rawValue: rawValue) }
}
