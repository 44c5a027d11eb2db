import Encodings

extension Moment {
    /// The moment in UTC as RFC 3339 §5.6 writes it, always with three decimals: "2026-11-21T00:50:54.000Z".
    public var rfc3339: String { RFC3339.text(milliseconds: milliseconds) }

    /// Reads RFC 3339 §5.6 with any offset. Decimals past the third are cut off.
    ///
    /// Returns `nil` for a leap second, a date that no calendar has, a moment outside of the range, and every
    /// other form, also for the ISO 8601 forms that RFC 3339 leaves out.
    public init?(rfc3339 text: String) {
        guard let milliseconds = RFC3339.milliseconds(of: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
