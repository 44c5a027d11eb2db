/// A URL to which the service sends, as pages show it. Such URLs often have a secret.
///
/// User and query are hidden. A long segment of the path is shortened, because services give out addresses with a key in
/// the path. The rest of the path is shown.
public enum MaskedURL {
    /// Bytes of a segment of the path from which it is shortened.
    static let longSegment = 16

    public static func text(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "…" }
        let rest = url[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let user = authority.lastIndex(of: "@")
        let host = user.map { authority[authority.index(after: $0)...] } ?? authority
        let path = rest[authority.endIndex...].prefix { !"?#".contains($0) }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            segment.utf8.count < longSegment ? String(segment) : "\(segment.prefix(4))…"
        }
        let end = path.endIndex == url.endIndex ? "" : "?…"
        return
            "\(url[..<scheme.upperBound])\(user == nil ? "" : "…@")\(host)\(segments.joined(separator: "/"))\(end)"
    }
}
