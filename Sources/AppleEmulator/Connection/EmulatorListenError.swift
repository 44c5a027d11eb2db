/// The emulator could not listen on its address.
public struct EmulatorListenError: Error {
    public let host: String
    public let port: Int
    /// What the system said.
    public let cause: any Error
}
