/// Why a request is refused that a foreign web page may have sent.
public enum ForeignPageRefusal: Error, Sendable, CaseIterable {
    /// `Host` names neither this machine nor a configured name.
    case host
    /// The page that sent it is on another server.
    case origin
}
