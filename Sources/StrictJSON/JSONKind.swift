/// The type of the next JSON value (RFC 8259 §3).
public enum JSONKind: Sendable {
    case object, array, string, number, bool, null
}
