import JOSE
import StrictJSON

extension ClientKey {
    var json: JSONObject {
        JSONObject([
            ("team_id", .string(teamID)), ("kid", .string(keyID)),
            ("jwk", .object(publicKey.jwk(keyID: keyID))),
        ])
    }
}
