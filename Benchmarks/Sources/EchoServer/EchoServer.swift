import ArgumentParser
import Hummingbird

/// Reads a request like that of a verification and responds with JSON, but verifies nothing, in order to
/// measure the cost of Hummingbird itself.
@main
struct EchoServer: AsyncParsableCommand {
    struct Message: ResponseCodable {
        var identityToken: String

        enum CodingKeys: String, CodingKey {
            case identityToken = "identity_token"
        }
    }

    @Option var port: Int

    func run() async throws {
        let router = Router()
        router.post("/") { request, context in
            try await request.decode(as: Message.self, context: context)
        }
        let address = BindAddress.hostname("127.0.0.1", port: port)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: address))
        try await application.runService()
    }
}
