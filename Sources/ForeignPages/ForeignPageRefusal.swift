/// Why a request that a web page of another site may have sent is refused.
public enum ForeignPageRefusal: Error, Sendable, CaseIterable {
    /// `Host` is neither a loopback name nor a configured name.
    case host
    /// `Origin` is another server.
    case origin
}
