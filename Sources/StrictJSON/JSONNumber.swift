/// A JSON number without loss: an exact 64-bit integer, or the text of anything else.
///
/// `1e3` and `1.0` are not integers here, because Apple never writes them, and readers that round would
/// disagree with others.
public enum JSONNumber: Sendable, Equatable {
    case integer(Int64)
    case other(String)
}
