import ArgumentParser
import Foundation
import Hummingbird
import JWTKit

/// A typical verification with jwt-kit and Hummingbird: it checks the signature with a key from the key set,
/// the issuer, the audience and the expiry, and responds with the claims.
@main
struct JWTKitServer: AsyncParsableCommand {
    struct Question: Decodable {
        var identityToken: String

        enum CodingKeys: String, CodingKey {
            case identityToken = "identity_token"
        }
    }

    struct Reply: ResponseCodable {
        var identity: AppleIdentityToken
    }

    @Option var port: Int
    @Option(help: "A file with a JSON Web Key Set.") var keys: String
    @Option var clientID: String

    func run() async throws {
        let json = try String(contentsOfFile: keys, encoding: .utf8)
        let collection = try await JWTKeyCollection().add(jwksJSON: json)
        let clientID = clientID
        let router = Router()
        router.post("/") { request, context in
            let question = try await request.decode(as: Question.self, context: context)
            do {
                // The payload type itself checks the issuer and the expiry.
                let identity = try await collection.verify(
                    question.identityToken, as: AppleIdentityToken.self)
                try identity.audience.verifyIntendedAudience(includes: clientID)
                return Reply(identity: identity)
            } catch is JWTError {
                throw HTTPError(.unauthorized)
            }
        }
        let address = BindAddress.hostname("127.0.0.1", port: port)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: address))
        try await application.runService()
    }
}
