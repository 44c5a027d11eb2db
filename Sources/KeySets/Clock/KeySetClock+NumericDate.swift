public import AppleIdentity

extension KeySetClock {
    /// The time in the unit of tokens.
    public var now: NumericDate {
        NumericDate(clampingSecondsSince1970: millisecondsSince1970 / 1000)
    }
}
