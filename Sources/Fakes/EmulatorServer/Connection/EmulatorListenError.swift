/// The emulator could not listen on its address.
public struct EmulatorListenError: Error {
    public let host: String
    public let port: Int
    /// The error of the system.
    public let cause: any Error

    package init(host: String, port: Int, cause: any Error) {
        (self.host, self.port, self.cause) = (host, port, cause)
    }
}
