/// A port of this machine on which there was no listener a moment ago, for addresses that must be known before
/// the server starts.
public enum FreePort {
    public static func find() throws -> Int {
        try LocalSocket().port
    }
}
