"""What Chinese sentences are about when they are said to who works for somebody (R7)."""

from __future__ import annotations

from memci.domain.context.cues.rule import any_of

WORK = (
    "(?:代码|脚本|函数|方法名|模块|依赖|框架|接口|服务器?端?|微服务|后端|前端|数据库|数据表|表结构|"
    "字段|索引|缓存|队列|"
    "流水线|工作流|部署|上线|发布|版本|提交|分支|仓库|重构|迁移|单元测试|测试|覆盖率|变量|日志|"
    "报错|异常|漏洞|配置|容器|"
    "网站|网页|页面|小程序|应用|程序|系统|平台|命令行|数据集|报告|报表|文档|论文|文章|文案|摘要|"
    "周报|月报|方案|提案|"
    "幻灯片|表格|行程|攻略|发票|合同|客户|邮件|工单|提示词|模型|令牌|密码|密钥|生产环境|预算|文件|"
    "目录|翻译|爬虫|看板|"
    "查询|注释|命名|缩进|类型标注|订单|库存|仪表盘|架构|算法|需求|功能|简历|稿件?|海报|课件|教案|"
    r"\b(?:api|sql|json|yaml|csv|xml|html|css|pdf|excel|word|ppt|markdown|python|java|javascript|"
    r"typescript|go|rust|"
    r"react|vue|postgres\w*|mysql|sqlite|redis|docker|kubernetes|git|ui|cli|sdk)(?![a-z])|"
    r"(?<![a-z])(?:api|sql|json|yaml|csv|html|pdf|excel|ppt|markdown|python|java|go|rust|vue|"
    r"postgres\w*|mysql|redis|"
    r"docker|git)(?![a-z])|"
    r"`[^`]+`|"
    r"\w+\.(?:py|js|ts|go|rs|java|md|json|toml|ya?ml|sql|csv|txt)(?![a-z]))"
)
_NUMBER = r"[\d一二两三四五六七八九十百千万]+\s?"
# How much something costs or holds, and how long or for how many people it is besides.
SIZE = rf"(?:[¥￥$]\s?\d|{_NUMBER}(?:[万欧美日]?元|块钱|英镑|字|个字|行|句话?|毫秒|兆|[kmg]b|%))"
_AMOUNT = f"(?:{SIZE}|{_NUMBER}(?:页|秒|分钟|个?小时|条|晚|人以))"
ANSWERS = "(?:你的?(?:回答|回复|解释|输出|语气)|回答|回复我?|称呼|叫我)"
OF_WORK = any_of(WORK)
MADE_OF_WORK = any_of(WORK, _AMOUNT, ANSWERS)

# Words before the point of a sentence.
LEAD = (
    r"^\W*(?:(?:另外|还有|而且|以及|并且|同时|首先|其次|最后|注意|记住|请注意|请记住|重要|"
    r"对了|不对?(?=[，,：:])|等等|好的?|谢谢[你您]?|那么?|你好|您好|嗨)[\s，,：:！!、]*)*"
)
