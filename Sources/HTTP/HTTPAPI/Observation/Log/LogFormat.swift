/// The form of the log's lines. Both have the same fields with the same names.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `name=value` pairs, for operators.
    case text
    /// One JSON object a line (RFC 8259), for log collectors.
    case json
}
