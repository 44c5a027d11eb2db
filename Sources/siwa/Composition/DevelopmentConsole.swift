import AppleEmulator
import Console
import GoogleEmulator
import ReceiverEmulator

/// Parts of the console of `siwa dev` beside the service: the fakes in the same process.
struct DevelopmentConsole: Sendable {
    let apple: EmulatedApple
    /// `nil` without OAuth clients.
    let google: GoogleEmulatorService?
    let receivers: ReceiverEmulatorService
    let startPages: StartPages
}
