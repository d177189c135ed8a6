//! The names that columns of shot lists have, by language: English, German, French, Spanish, Chinese (simplified and traditional)
//! and Japanese. Names are as [`super::columns`] compares them: lower-case, without accents, punctuation and the words below.

use super::columns::Column;

/// Words for "number", and articles and prepositions between words, which say nothing about the meaning of a column.
pub(super) const SKIPPED_WORDS: [&str; 14] =
    ["no", "nos", "nr", "number", "num", "nummer", "numero", "n", "s", "de", "des", "du", "la", "del"];

/// The names of a column in all languages. A line for each language, which the formatter would break up.
#[rustfmt::skip]
pub(super) const HEADERS: [(Column, &[&str]); 10] = [
    (
        Column::Scene,
        &[
            "scene", "sc", "sequence", "seq", // English, French
            "szene", "sz", "sequenz", // German
            "escena", "esc", "secuencia", // Spanish
            "场", "场景", "场次", "场号", "場", "場景", "場次", "場號", // Chinese
            "シーン", "シーン番号", "場面", // Japanese
        ],
    ),
    (
        Column::Shot,
        &[
            "shot", "id", "setup", "cut", "panel", "", // English
            "einstellung", "einst", "einstellungsnummer", "einstellungsnr", // German
            "plan", // French
            "plano", "toma", // Spanish
            "镜", "镜头", "镜号", "镜头号", "镜次", "分镜", "分镜号", "鏡", "鏡頭", "鏡號", "鏡頭號", "鏡次", "分鏡", // Chinese
            "カット", "カット番号", "ショット", "ショット番号", // Japanese
        ],
    ),
    (
        Column::Size,
        &[
            "size", "shot size", "framing", "frame", "shot type", "type", "field size", // English
            "einstellungsgrosse", "einstellungsgroesse", "grosse", "groesse", "bildausschnitt", "ausschnitt", // German
            "valeur", "valeur plan", "echelle", "echelle plan", "echelle plans", "cadrage", "cadre", // French
            "taille plan", "grosseur plan", // French
            "tamano", "tamano plano", "tipo plano", "encuadre", "escala", // Spanish
            "景别", "景別", // Chinese
            "サイズ", "ショットサイズ", "画角", "フレーミング", "構図", // Japanese
        ],
    ),
    (
        Column::Angle,
        &[
            "angle", "camera angle", "shot angle", "height", // English
            "perspektive", "kameraperspektive", "kamerawinkel", "winkel", "blickwinkel", // German
            "angle vue", "angle camera", "angle prise vue", // French
            "angulo", "angulo camara", "angulacion", // Spanish
            "角度", "机位角度", "拍摄角度", "视角", "機位角度", "拍攝角度", "視角", // Chinese
            "アングル", "カメラアングル", // Japanese
        ],
    ),
    (
        Column::Movement,
        &[
            "movement", "camera movement", "move", "camera move", "motion", "camera", // English
            "kamerabewegung", "bewegung", "kamera", "kamerafuhrung", "kamerafuehrung", // German
            "mouvement", "mouvements", "mouvement camera", "mouvements camera", // French
            "movimiento", "movimientos", "movimiento camara", "movimientos camara", "camara", // Spanish
            "运镜", "运镜方式", "镜头运动", "摄影机运动", "拍摄手法", "運鏡", "運鏡方式", "鏡頭運動", "拍攝手法", // Chinese
            "カメラワーク", "カメラ", "カメラの動き", "動き", // Japanese
        ],
    ),
    (
        Column::Lens,
        &[
            "lens", "focal length", "lens mm", "mm", "optics", // English
            "brennweite", "objektiv", "optik", // German
            "focale", "longueur focale", "objectif", "optique", // French
            "lente", "objetivo", "distancia focal", "focal", "optica", // Spanish
            "焦距", "镜头焦距", "鏡頭焦距", // Chinese
            "レンズ", "焦点距離", // Japanese
        ],
    ),
    (
        Column::Description,
        &[
            "description", "shot description", "action", "subject", "subject action", "prompt", "content", // English
            "image", "visual", // English
            "beschreibung", "handlung", "aktion", "inhalt", "bildinhalt", "bildbeschreibung", "bild", // German
            "contenu", "visuel", "descriptif", // French
            "descripcion", "accion", "contenido", "imagen", // Spanish
            "画面", "画面内容", "画面描述", "内容", "描述", "动作", "镜头内容", // Chinese, simplified
            "畫面", "畫面內容", "畫面描述", "內容", "動作", "鏡頭內容", // Chinese, traditional
            "アクション", "ト書き", "説明", "描写", "絵", // Japanese
        ],
    ),
    (
        Column::Dialogue,
        &[
            "dialogue", "dialog", "line", "lines", "vo", "voice over", "voiceover", "narration", // English
            "dialoge", "text", "sprechertext", "off text", "kommentar", // German
            "dialogues", "texte", "voix off", "voix", "repliques", "paroles", // French
            "dialogo", "dialogos", "texto", "voz en off", "locucion", "voz", // Spanish
            "台词", "对白", "对话", "旁白", "解说词", "台詞", "對白", "對話", "解說詞", // Chinese
            "セリフ", "せりふ", "ダイアログ", "ナレーション", // Japanese
        ],
    ),
    (
        Column::Sound,
        &[
            "sound", "audio", "sfx", "music", "sound effects", // English
            "ton", "gerausch", "gerausche", "geraeusche", "musik", "atmo", // German
            "son", "sons", "musique", "bruitage", "bruitages", "ambiance", "bande son", // French
            "sonido", "musica", "efectos sonido", "efectos", "banda sonora", // Spanish
            "音效", "声音", "音乐", "配乐", "聲音", "音樂", "配樂", // Chinese
            "音", "音声", "音楽", "効果音", "サウンド", "se", "bgm", // Japanese
        ],
    ),
    (
        Column::Duration,
        &[
            "duration", "length", "seconds", "secs", "sec", "time", "dur", "runtime", "est time", // English
            "dauer", "lange", "laenge", "zeit", "sekunden", "sek", "laufzeit", // German
            "duree", "temps", "longueur", "secondes", "minutage", // French
            "duracion", "tiempo", "segundos", "seg", "longitud", // Spanish
            "时长", "秒数", "时间", "长度", "秒", "時長", "秒數", "時間", "長度", // Chinese
            "尺", "長さ", // Japanese
        ],
    ),
];
