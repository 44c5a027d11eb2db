/// The type of the JSON value that comes next (RFC 8259 §3).
public enum JSONKind: Sendable {
    case object, array, string, number, bool, null
}
