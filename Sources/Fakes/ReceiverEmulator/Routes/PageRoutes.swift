import Cryptography
import EmulatorServer
import Encodings
import Hummingbird

/// The page, and the actions of its buttons.
struct PageRoutes: Sendable {
    let state: ReceiverState
    private let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: ReceiverState) { self.state = state }

    func add(to router: Router<ReceiverRequestContext>) {
        router.get("/") { request, _ in
            let isWatching = request.uri.queryParameters["watch"] != nil
            return await ReceiverPage(of: state, token: token, isWatching: isWatching).response
        }
        router.post("faults") { request, _ in
            let form = try await form(request)
            let receiver = try ControlRoutes.receiver(form["receiver"] ?? "")
            switch form["action"] {
            case "recover": await state.recover(receiver)
            case "break":
                guard let kind = form["fault"].flatMap({ ReceiverFault.Kind(rawValue: $0) }) else {
                    throw EmulatorError(.memberMalformed, detail: "fault")
                }
                var fault = ReceiverFault(kind)
                if let text = form["seconds"] {
                    guard let seconds = Int64(text), ReceiverFault.delays.contains(seconds) else {
                        throw EmulatorError(
                            .memberMalformed, detail: "seconds: an integer in \(ReceiverFault.delays)")
                    }
                    fault.seconds = seconds
                }
                try state.setFault(fault, of: receiver)
            default: throw EmulatorError(.memberMalformed, detail: "action")
            }
            return Response.seeOther("/")
        }
        router.post("clear") { request, _ in
            _ = try await form(request)
            state.update { $0.log.clear() }
            return Response.seeOther("/")
        }
    }

    private func form(_ request: Request) async throws -> PageForm {
        let form = try await PageForm(request)
        try form.check(token: token)
        return form
    }
}
