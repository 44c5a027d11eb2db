import Encodings
import StrictJSON

/// The sign-in of a machine without a browser (RFC 8628): the user enters a code in a browser elsewhere, and
/// this program polls.
extension LoginFlow {
    func signInByDevice(at server: ServerMetadata) async throws(LoginError) {
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw LoginError(
                .serverUnsuitable,
                "\(issuer.text) has no device_authorization_endpoint; sign in without --device")
        }
        let fields = scope.text.map { [(name: "scope", value: $0)] } ?? []
        let received = try await transport.post(client.authenticate(fields, at: endpoint, of: server))
        let device = try DeviceAuthorization(received, of: issuer)
        invite(to: device)
        let response = try await poll(device, at: server)
        say("The server has sent the tokens.")
        try await keep(response, nonce: nil, at: server)
    }

    private func invite(to device: DeviceAuthorization) {
        say("Open this address in a browser on any device:\n\n  \(device.verificationURI)\n")
        say("Enter this code there:\n\n  \(device.userCode)\n")
        if let complete = device.completeURI {
            say("Or open this address, and compare the code:\n\n  \(complete)\n")
        }
        say("Waiting for the browser, at most \((device.lifetime + 59) / 60) min.")
    }

    private enum Answer {
        case tokens(TokenResponse)
        /// The user has not decided.
        case pending
        case slowDown
    }

    private func poll(
        _ device: DeviceAuthorization, at server: ServerMetadata
    ) async throws(LoginError) -> TokenResponse {
        var (interval, waited) = (device.interval, Int64(0))
        while waited + interval < device.lifetime {
            await pause(interval)
            waited += interval
            do throws(LoginError) {
                switch try await answer(device, at: server) {
                case .tokens(let response): return response
                case .pending: break
                // This request and all that follow (RFC 8628 §3.5).
                case .slowDown: interval = min(interval + 5, DeviceAuthorization.longestInterval)
                }
            } catch  where error.code == .serverUnreachable {
                // RFC 8628 §3.5 advises to double the interval: the server may be overloaded.
                interval = min(interval * 2, DeviceAuthorization.longestInterval)
                say("\(error.message). Trying again in \(interval) s.")
            }
        }
        throw LoginError(.responseMissing, "the code was not entered in time; run the command again")
    }

    /// A cancelled pause ends early, and so does the request that follows.
    private func pause(_ seconds: Int64) async { try? await clock.sleep(for: .seconds(seconds)) }

    private func answer(
        _ device: DeviceAuthorization, at server: ServerMetadata
    ) async throws(LoginError) -> Answer {
        let form = client.authenticate(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", device.deviceCode),
            ], at: server.tokenEndpoint, of: server)
        let received = try await transport.post(form)
        if received.status == 400 {
            switch (try? JSONValue(parsing: received.body))?["error"]?.string {
            case "authorization_pending": return .pending
            case "slow_down": return .slowDown
            default: break
            }
        }
        return .tokens(try TokenResponse(status: received.status, body: received.body))
    }
}
