/// The service could not listen on its address.
public struct ListenError: Error {
    public let host: String
    public let port: Int
    /// What the system said.
    public let cause: any Error
}
